# Thin on purpose: what each target does stands in scripts/.
.DEFAULT_GOAL := help
.PHONY: help build demo example test test-slow lint format benchmark clean

help: ## what there is to make
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null || grep '##' $(MAKEFILE_LIST)

build: ## the commands, optimised: .build/release/manifest-sign, manifest-verify
	@scripts/install-packages build
	swift build -c release

demo: ## sign and verify a real catalog in .build/demo, step by step
	@scripts/demo

example: ## build and run the app in Examples/Installer, which uses the library product alone
	@scripts/run-example

test: ## everything but the slow tests; installs what they need
	@scripts/run-tests

test-slow: ## everything, the slow tests included
	@scripts/run-tests --slow

lint: ## formatting, shell scripts, module boundaries, specification coverage
	@scripts/lint

format: ## bring the Swift files into the form that lint asks for, as far as a program can
	@swift format --in-place --parallel --recursive Package.swift Sources Tests

benchmark: build ## speed and memory beside the peers, in one run (Benchmarks/run --help for parts of it)
	@scripts/install-packages peers test
	@scripts/install-peers
	@Benchmarks/run

clean: ## what was built (not .peers, the fetched models and Python environment)
	rm -rf .build
