; How much there is, and what it is called
(overview)
(names "principles")

; Find by words; by name; by path
(search-knowledge "plexus")
(get-principle "contagious-materialization")
(get-file-understanding "plexus/src/PlexusModel.ts")
(about-file "plexus/src/PlexusModel.ts")
(get-related-files "plexus/src/PlexusModel.ts")

; All of a kind, of a type, of a status, with a tag
(get-principles)
(get-patterns-by-type "plexus-model")
(get-decisions-by-status "active")
(get-principles-by-tag "sync")

; Only those that you want
(filter (lambda (p) (> (@ p :confidence) 0.8)) (get-principles))
(filter (lambda (pat) (> (@ pat :confidence) 0.8)) (get-patterns))
(filter (lambda (p) (member "plexus" (@ p :tags))) (get-principles))
(filter (lambda (d) (string-contains (@ d :rationale) "browser")) (get-decisions))

; Only the fields that you want, which costs less to read
(map :name (get-principles))
(map (lambda (p) (list (@ p :name) (@ p :confidence))) (get-principles))

; Sorted (what lacks the field comes last, either way), counted, grouped
(take (sort-by :impact (get-decisions) :desc) 3)
(map :name (sort (get-decisions) (lambda (a b) (< (@ a :impact) (@ b :impact)))))
(length (get-patterns))
(group-by :type (get-patterns))
(->> (get-principles) (filter (lambda (p) (> (@ p :confidence) 0.5))) (map :name))

; How things hang together
(get-relationships-from "contagious-materialization")
(get-neighbours "contagious-materialization")
(map (lambda (r) (list (@ r :from) (@ r :type) (@ r :to))) (get-relationships))

; Who said so, when, and how it was before
(map (lambda (p) (list (@ p :name) (@ p :by) (@ p :at))) (recent 5))
(history "contagious-materialization")
(as-of "2030-01-01" (lambda () (length (get-principles))))

; What may no longer hold
(get-stale)
(get-current (get-principles))

; Several answers in one question: what is defined stays
(define sure (filter (lambda (p) (>= (@ p :confidence) 0.9)) (get-principles)))
(length sure)
(map :name sure)
