# Shared by the optional tests (tests/vllm, tests/writer, tests/finetune, tests/tools). Each needs packages that do not
# belong into .venv: they are large, or need other versions. They go into an environment below ~/.cache.
ROOT := ../..
include $(ROOT)/common.mk

NAME := $(notdir $(CURDIR))
# All checkouts with the same requirements and the same Python share one environment.
PINS := $(shell cd $(ROOT) && { cat tests/$(NAME)/requirements.txt; $(PYTHON) --version; } | cksum | cut -d" " -f1)
DEFAULT_ENV := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/crux-workbench/$(NAME)-$(PINS)
# Option of pip for torch, such as "--extra-index-url URL", where the package index has only builds for GPUs.
TORCH_FROM ?=

.PHONY: env test
