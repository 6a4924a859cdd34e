module plexus

go 1.24
