"""The GoogleTest suite: every executable *Tests in the build's test/Unit."""

import os

import lit.formats

config.name = "fp8c-Unit"
config.suffixes = []
config.test_exec_root = os.path.join(config.fp8c_obj_root, "test", "Unit")
config.test_source_root = config.test_exec_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.environment["FP8C_TEST_TMP"] = os.path.join(config.test_exec_root, "tmp")
os.makedirs(config.environment["FP8C_TEST_TMP"], exist_ok=True)
