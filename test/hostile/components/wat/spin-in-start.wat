;; Loops for ever in its start function.
;; verdict: LIMIT_TIME
(func $begin (loop $again (br $again)))
(start $begin)
