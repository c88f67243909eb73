from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="ops",
    ext_modules=[CppExtension("ops", ["ops.cpp"])],
    cmdclass={"build_ext": BuildExtension},
)
