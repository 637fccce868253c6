# The oracle in parts; its frames must stay as its keys name them.
target_sources(target_oracle PRIVATE targets/malloc/oracle/books.cc targets/malloc/oracle/sites.cc targets/malloc/oracle/worker.cc)
target_compile_options(target_oracle PRIVATE -fno-optimize-sibling-calls -Wno-alloc-size-larger-than)
