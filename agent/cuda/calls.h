// agent/cuda/calls.h: lists of the driver calls that are recorded with their time, bytes and stack because they take
// the host's time, and of those that start a kernel.
//
// X(symbol, base, version, per_thread, kind, bytes, params, args)
//   symbol … per_thread, params   as in functions.def
//   kind    a wire::DeviceCall
//   bytes   how many bytes the call moves or sets, from its parameters; computed once it has succeeded
// A variant for the per-thread default stream came with CUDA 7.0, or with the function.
#pragma once

#define HEAPPROF_CUDA_PAIR(X, symbol, suffix, base, version, kind, bytes, params, args) \
  X(symbol, base, version, 0, kind, bytes, params, args)                                \
  X(symbol##suffix, base, (version) > 7000 ? (version) : 7000, 1, kind, bytes, params, args)

#define HEAPPROF_CUDA_CALLS(X)                                                                                        \
  X(cuCtxSynchronize, cuCtxSynchronize, 2000, 0, kSynchronizeContext, 0, (), ())                                      \
  X(cuCtxSynchronize_v2, cuCtxSynchronize, 13000, 0, kSynchronizeContext, 0, (void* context), (context))              \
  HEAPPROF_CUDA_PAIR(X, cuStreamSynchronize, _ptsz, cuStreamSynchronize, 2000, kSynchronizeStream, 0, (void* stream), \
                     (stream))                                                                                        \
  X(cuEventSynchronize, cuEventSynchronize, 2000, 0, kSynchronizeEvent, 0, (void* event), (event))                    \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyHtoD_v2, _ptds, cuMemcpyHtoD, 3020, kCopyToDevice, bytes,                             \
                     (uint64_t to, const void* from, size_t bytes), (to, from, bytes))                                \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyDtoH_v2, _ptds, cuMemcpyDtoH, 3020, kCopyToHost, bytes,                               \
                     (void* to, uint64_t from, size_t bytes), (to, from, bytes))                                      \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyDtoD_v2, _ptds, cuMemcpyDtoD, 3020, kCopyOnDevice, bytes,                             \
                     (uint64_t to, uint64_t from, size_t bytes), (to, from, bytes))                                   \
  HEAPPROF_CUDA_PAIR(X, cuMemcpy, _ptds, cuMemcpy, 4000, kCopy, bytes, (uint64_t to, uint64_t from, size_t bytes),    \
                     (to, from, bytes))                                                                               \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyPeer, _ptds, cuMemcpyPeer, 4000, kCopyOnDevice, bytes,                                \
                     (uint64_t to, void* to_context, uint64_t from, void* from_context, size_t bytes),                \
                     (to, to_context, from, from_context, bytes))                                                     \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyHtoDAsync_v2, _ptsz, cuMemcpyHtoDAsync, 3020, kCopyToDevice, bytes,                   \
                     (uint64_t to, const void* from, size_t bytes, void* stream), (to, from, bytes, stream))          \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyDtoHAsync_v2, _ptsz, cuMemcpyDtoHAsync, 3020, kCopyToHost, bytes,                     \
                     (void* to, uint64_t from, size_t bytes, void* stream), (to, from, bytes, stream))                \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyDtoDAsync_v2, _ptsz, cuMemcpyDtoDAsync, 3020, kCopyOnDevice, bytes,                   \
                     (uint64_t to, uint64_t from, size_t bytes, void* stream), (to, from, bytes, stream))             \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyAsync, _ptsz, cuMemcpyAsync, 4000, kCopy, bytes,                                      \
                     (uint64_t to, uint64_t from, size_t bytes, void* stream), (to, from, bytes, stream))             \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyPeerAsync, _ptsz, cuMemcpyPeerAsync, 4000, kCopyOnDevice, bytes,                      \
                     (uint64_t to, void* to_context, uint64_t from, void* from_context, size_t bytes, void* stream),  \
                     (to, to_context, from, from_context, bytes, stream))                                             \
  HEAPPROF_CUDA_PAIR(X, cuMemcpy2D_v2, _ptds, cuMemcpy2D, 3020, kCopy, bytes_of(copy), (const CudaCopy2d* copy),      \
                     (copy))                                                                                          \
  HEAPPROF_CUDA_PAIR(X, cuMemcpy2DUnaligned_v2, _ptds, cuMemcpy2DUnaligned, 3020, kCopy, bytes_of(copy),              \
                     (const CudaCopy2d* copy), (copy))                                                                \
  HEAPPROF_CUDA_PAIR(X, cuMemcpy2DAsync_v2, _ptsz, cuMemcpy2DAsync, 3020, kCopy, bytes_of(copy),                      \
                     (const CudaCopy2d* copy, void* stream), (copy, stream))                                          \
  HEAPPROF_CUDA_PAIR(X, cuMemcpy3D_v2, _ptds, cuMemcpy3D, 3020, kCopy, bytes_of(copy), (const CudaCopy3d* copy),      \
                     (copy))                                                                                          \
  HEAPPROF_CUDA_PAIR(X, cuMemcpy3DAsync_v2, _ptsz, cuMemcpy3DAsync, 3020, kCopy, bytes_of(copy),                      \
                     (const CudaCopy3d* copy, void* stream), (copy, stream))                                          \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD8_v2, _ptds, cuMemsetD8, 3020, kSet, count,                                          \
                     (uint64_t at, unsigned char value, size_t count), (at, value, count))                            \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD16_v2, _ptds, cuMemsetD16, 3020, kSet, 2 * count,                                    \
                     (uint64_t at, unsigned short value, size_t count), (at, value, count))                           \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD32_v2, _ptds, cuMemsetD32, 3020, kSet, 4 * count,                                    \
                     (uint64_t at, unsigned value, size_t count), (at, value, count))                                 \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD8Async, _ptsz, cuMemsetD8Async, 3020, kSet, count,                                   \
                     (uint64_t at, unsigned char value, size_t count, void* stream), (at, value, count, stream))      \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD16Async, _ptsz, cuMemsetD16Async, 3020, kSet, 2 * count,                             \
                     (uint64_t at, unsigned short value, size_t count, void* stream), (at, value, count, stream))     \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD32Async, _ptsz, cuMemsetD32Async, 3020, kSet, 4 * count,                             \
                     (uint64_t at, unsigned value, size_t count, void* stream), (at, value, count, stream))           \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD2D8_v2, _ptds, cuMemsetD2D8, 3020, kSet, width* height,                              \
                     (uint64_t at, size_t pitch, unsigned char value, size_t width, size_t height),                   \
                     (at, pitch, value, width, height))                                                               \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD2D8Async, _ptsz, cuMemsetD2D8Async, 3020, kSet, width* height,                       \
                     (uint64_t at, size_t pitch, unsigned char value, size_t width, size_t height, void* stream),     \
                     (at, pitch, value, width, height, stream))                                                       \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD2D16_v2, _ptds, cuMemsetD2D16, 3020, kSet, 2 * width * height,                       \
                     (uint64_t at, size_t pitch, unsigned short value, size_t width, size_t height),                  \
                     (at, pitch, value, width, height))                                                               \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD2D16Async, _ptsz, cuMemsetD2D16Async, 3020, kSet, 2 * width * height,                \
                     (uint64_t at, size_t pitch, unsigned short value, size_t width, size_t height, void* stream),    \
                     (at, pitch, value, width, height, stream))                                                       \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD2D32_v2, _ptds, cuMemsetD2D32, 3020, kSet, 4 * width * height,                       \
                     (uint64_t at, size_t pitch, unsigned value, size_t width, size_t height),                        \
                     (at, pitch, value, width, height))                                                               \
  HEAPPROF_CUDA_PAIR(X, cuMemsetD2D32Async, _ptsz, cuMemsetD2D32Async, 3020, kSet, 4 * width * height,                \
                     (uint64_t at, size_t pitch, unsigned value, size_t width, size_t height, void* stream),          \
                     (at, pitch, value, width, height, stream))                                                       \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyDtoA_v2, _ptds, cuMemcpyDtoA, 3020, kCopyOnDevice, bytes,                             \
                     (void* to, size_t offset, uint64_t from, size_t bytes), (to, offset, from, bytes))               \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyAtoD_v2, _ptds, cuMemcpyAtoD, 3020, kCopyOnDevice, bytes,                             \
                     (uint64_t to, void* from, size_t offset, size_t bytes), (to, from, offset, bytes))               \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyAtoA_v2, _ptds, cuMemcpyAtoA, 3020, kCopyOnDevice, bytes,                             \
                     (void* to, size_t to_offset, void* from, size_t offset, size_t bytes),                           \
                     (to, to_offset, from, offset, bytes))                                                            \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyHtoA_v2, _ptds, cuMemcpyHtoA, 3020, kCopyToDevice, bytes,                             \
                     (void* to, size_t offset, const void* from, size_t bytes), (to, offset, from, bytes))            \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyHtoAAsync_v2, _ptsz, cuMemcpyHtoAAsync, 3020, kCopyToDevice, bytes,                   \
                     (void* to, size_t offset, const void* from, size_t bytes, void* stream),                         \
                     (to, offset, from, bytes, stream))                                                               \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyAtoH_v2, _ptds, cuMemcpyAtoH, 3020, kCopyToHost, bytes,                               \
                     (void* to, void* from, size_t offset, size_t bytes), (to, from, offset, bytes))                  \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyAtoHAsync_v2, _ptsz, cuMemcpyAtoHAsync, 3020, kCopyToHost, bytes,                     \
                     (void* to, void* from, size_t offset, size_t bytes, void* stream),                               \
                     (to, from, offset, bytes, stream))                                                               \
  HEAPPROF_CUDA_PAIR(X, cuMemcpy3DPeer, _ptds, cuMemcpy3DPeer, 4000, kCopyOnDevice, bytes_of(copy),                   \
                     (const CudaCopy3d* copy), (copy))                                                                \
  HEAPPROF_CUDA_PAIR(X, cuMemcpy3DPeerAsync, _ptsz, cuMemcpy3DPeerAsync, 4000, kCopyOnDevice, bytes_of(copy),         \
                     (const CudaCopy3d* copy, void* stream), (copy, stream))                                          \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyBatchAsync, _ptsz, cuMemcpyBatchAsync, 12080, kCopy, bytes_of(sizes, count),          \
                     (uint64_t * to, uint64_t * from, const size_t* sizes, size_t count, void* attributes,            \
                      size_t* indexes, size_t attribute_count, size_t* failed, void* stream),                         \
                     (to, from, sizes, count, attributes, indexes, attribute_count, failed, stream))                  \
  HEAPPROF_CUDA_PAIR(X, cuMemcpyBatchAsync_v2, _ptsz, cuMemcpyBatchAsync, 13000, kCopy, bytes_of(sizes, count),       \
                     (uint64_t * to, uint64_t * from, const size_t* sizes, size_t count, void* attributes,            \
                      size_t* indexes, size_t attribute_count, void* stream),                                         \
                     (to, from, sizes, count, attributes, indexes, attribute_count, stream))                          \
  HEAPPROF_CUDA_PAIR(                                                                                                 \
      X, cuMemcpy3DBatchAsync, _ptsz, cuMemcpy3DBatchAsync, 12080, kCopy, bytes_of(copies, count),                    \
      (size_t count, const CudaBatchCopy3d* copies, size_t* failed, unsigned long long flags, void* stream),          \
      (count, copies, failed, flags, stream))                                                                         \
  HEAPPROF_CUDA_PAIR(X, cuMemcpy3DBatchAsync_v2, _ptsz, cuMemcpy3DBatchAsync, 13000, kCopy, bytes_of(copies, count),  \
                     (size_t count, const CudaBatchCopy3d* copies, unsigned long long flags, void* stream),           \
                     (count, copies, flags, stream))                                                                  \
  HEAPPROF_CUDA_PAIR(X, cuStreamWaitEvent, _ptsz, cuStreamWaitEvent, 3020, kWaitForEvent, 0,                          \
                     (void* stream, void* event, unsigned flags), (stream, event, flags))                             \
  HEAPPROF_CUDA_PAIR(X, cuEventRecord, _ptsz, cuEventRecord, 2000, kRecordEvent, 0, (void* event, void* stream),      \
                     (event, stream))                                                                                 \
  HEAPPROF_CUDA_PAIR(X, cuEventRecordWithFlags, _ptsz, cuEventRecordWithFlags, 11010, kRecordEvent, 0,                \
                     (void* event, void* stream, unsigned flags), (event, stream, flags))                             \
  HEAPPROF_CUDA_PAIR(X, cuGraphLaunch, _ptsz, cuGraphLaunch, 10000, kLaunchGraph, 0, (void* graph, void* stream),     \
                     (graph, stream))

// X(symbol, base, version, per_thread, params, args): calls that start a kernel (kernels.h).
#define HEAPPROF_CUDA_LAUNCH_PAIR(X, symbol, base, version, params, args) \
  X(symbol, base, version, 0, params, args)                               \
  X(symbol##_ptsz, base, (version) > 7000 ? (version) : 7000, 1, params, args)

#define HEAPPROF_CUDA_LAUNCHES(X)                                                                           \
  HEAPPROF_CUDA_LAUNCH_PAIR(                                                                                \
      X, cuLaunchKernel, cuLaunchKernel, 4000,                                                              \
      (void* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
       unsigned block_z, unsigned shared_bytes, void* stream, void** parameters, void** extra),             \
      (kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra)) \
  HEAPPROF_CUDA_LAUNCH_PAIR(                                                                                \
      X, cuLaunchKernelEx, cuLaunchKernelEx, 11060,                                                         \
      (const CudaLaunchConfiguration* configuration, void* kernel, void** parameters, void** extra),        \
      (configuration, kernel, parameters, extra))                                                           \
  HEAPPROF_CUDA_LAUNCH_PAIR(                                                                                \
      X, cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, 9000,                                        \
      (void* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
       unsigned block_z, unsigned shared_bytes, void* stream, void** parameters),                           \
      (kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters))

// The lists above in the form of functions.def.
#define HEAPPROF_CUDA_AS_FUNCTION(symbol, base, version, per_thread, kind, bytes, params, args) \
  X(symbol, base, version, per_thread, params)
#define HEAPPROF_CUDA_AS_LAUNCH(symbol, base, version, per_thread, params, args) \
  X(symbol, base, version, per_thread, params)
