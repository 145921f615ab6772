# SPDX-License-Identifier: BSD-3-Clause
# A rule that extracts a frame: snakemake -s docs/fiberloom/snakemake/frames.smk --cores 8 --config preproc=DIR out=OUT
# Snakemake decides by files and their times what is to be made; `threads` is what it grants to each call.
preproc, out = config["preproc"], config.get("out", "out")
wave = config.get("wave", "5760,7620,0.8")  # of the r cameras
found = glob_wildcards(preproc + "/preproc-{camera,[a-z]\d}-{expid,\d+}.fits")


rule all:
    input:
        expand(out + "/frame-{camera}-{expid}.fits", zip, camera=found.camera, expid=found.expid),


rule extract:
    input:
        image=preproc + "/preproc-{camera}-{expid}.fits",
        psf=preproc + "/psf-{camera}.fits",
    output:
        frame=out + "/frame-{camera}-{expid}.fits",
        summary=out + "/frame-{camera}-{expid}.json",
    threads: 2
    retries: 1
    shell:
        "fiberloom extract -i {input.image:q} -p {input.psf:q} -w {wave} -o {output.frame:q}"
        " --json {output.summary:q} --threads {threads} --quiet"
