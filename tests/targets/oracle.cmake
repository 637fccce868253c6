# The oracle in parts; its frames must stay as its keys name them.
target_sources(target_oracle PRIVATE targets/oracle/books.cc targets/oracle/sites.cc targets/oracle/worker.cc)
target_compile_options(target_oracle PRIVATE -fno-optimize-sibling-calls -Wno-alloc-size-larger-than)
