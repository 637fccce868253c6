# NVIDIA's headers, from their toolkit or from where a distribution has them.
find_path(nvtx_include nvtx3/nvtx3.hpp HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES include)
if(nvtx_include)
  target_include_directories(target_nvtx_real SYSTEM PRIVATE ${nvtx_include})
endif()
