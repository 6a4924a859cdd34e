;; Is called with a request of 2 MiB.
(memory (export "memory") 40)
