# SPDX-License-Identifier: BSD-3-Clause
# A night as one step, then a page of every frame that has a receipt:
#   snakemake -s docs/fiberloom/snakemake/night.smk --cores 8 --config preproc=DIR out=OUT
# `fiberloom night` itself knows what is done; the folder is no output of the rule, since Snakemake deletes
# outputs before it runs a rule again. Code 3: some frames failed, and the others are there.
import json
import pathlib

preproc, out = pathlib.Path(config["preproc"]), pathlib.Path(config.get("out", "out"))
options = config.get("options", "")


def pages(wildcards):
    """Of the frames that are done, which only the receipts tell once the night has been run."""
    checkpoints.night.get()
    receipts = [json.loads(path.read_text()) for path in sorted(out.glob(".fiberloom/receipts/*.json"))]
    return [str(out / receipt["output"]["path"]).removesuffix(".fits") + ".html" for receipt in receipts]


rule all:
    input:
        pages,


checkpoint night:
    input:
        [str(path) for path in sorted(preproc.rglob("*.fits"))],
    output:
        touch(f"{out}.done"),
    threads: workflow.cores
    shell:
        "code=0; fiberloom night {preproc} -o {out} {options} --threads {threads} --quiet || code=$?;"
        " [ $code -eq 0 ] || [ $code -eq 3 ]"


rule page:
    input:
        "{name}.fits",
    output:
        "{name}.html",
    shell:
        "fiberloom report {input:q} -o {output:q}"
