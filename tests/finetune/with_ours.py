"""Runs a module or a file with the packages of the site behind those of this Python.

    OUR_PACKAGES=FOLDER FINETUNE_ENV/bin/python tests/finetune/with_ours.py pytest|manage.py ...

Behind, so that torch has the packages that it was pinned with.
"""

import os
import runpy
import sys

if __name__ == "__main__":
    sys.path[:1] = [os.getcwd()]
    sys.path.append(os.environ["OUR_PACKAGES"])
    del sys.argv[0]
    run = runpy.run_path if sys.argv[0].endswith(".py") else runpy.run_module
    run(sys.argv[0], run_name="__main__")
