// Checks a signed note, tiles and proofs of Cambium with Go's own packages note and tlog (golang.org/x/mod/sumdb).
//
//	main VKEY NOTE TILES PROOFS
//
// NOTE is a signed checkpoint. TILES is a folder that 'cambium tiles' has written. PROOFS is a folder with a proof for each transaction,
// named by its number. The program prints how many entries and proofs it has checked, and fails at the first that does not hold.
package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// tiles reads hashes from the files of a log.
type tiles struct {
	folder string
	size   int64
}

func (t tiles) Height() int { return 8 }

func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range wanted {
		// Go's path begins with the height of a tile, which is 8 here.
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		data, err := os.ReadFile(filepath.Join(t.folder, path))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

// head returns the size and the root that a checkpoint states.
func head(text string) tlog.Tree {
	lines := strings.Split(text, "\n")
	var hash tlog.Hash
	copy(hash[:], must(base64.StdEncoding.DecodeString(lines[2])))
	return tlog.Tree{N: must(strconv.ParseInt(lines[1], 10, 64)), Hash: hash}
}

func open(text []byte, verifiers note.Verifiers) tlog.Tree {
	return head(must(note.Open(text, verifiers)).Text)
}

// entries returns the content of each leaf.
func entries(folder string, size int64) [][]byte {
	var all [][]byte
	for int64(len(all)) < size {
		tile := tlog.Tile{H: 8, L: -1, N: int64(len(all)) / 256, W: 256}
		if rest := size - int64(len(all)); rest < 256 {
			tile.W = int(rest)
		}
		path := strings.Replace(tile.Path(), "tile/8/data/", "tile/entries/", 1)
		data := must(os.ReadFile(filepath.Join(folder, path)))
		for len(data) > 0 {
			count := int(binary.BigEndian.Uint16(data))
			all = append(all, data[2:2+count])
			data = data[2+count:]
		}
	}
	return all
}

func main() {
	verifiers := note.VerifierList(must(note.NewVerifier(os.Args[1])))
	tree := open(must(os.ReadFile(os.Args[2])), verifiers)
	reader := tlog.TileHashReader(tree, tiles{os.Args[3], tree.N})
	all := entries(os.Args[3], tree.N)
	if int64(len(all)) != tree.N {
		log.Fatalf("%d entries in a tree of %d", len(all), tree.N)
	}
	for index, entry := range all {
		proof := must(tlog.ProveRecord(tree.N, int64(index), reader))
		if err := tlog.CheckRecord(proof, tree.N, tree.Hash, int64(index), tlog.RecordHash(entry)); err != nil {
			log.Fatalf("entry %d: %v", index, err)
		}
	}
	for size := int64(1); size <= tree.N; size += 1 + tree.N/100 {
		proof := must(tlog.ProveTree(tree.N, size, reader))
		old := must(tlog.TreeHash(size, reader))
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, size, old); err != nil {
			log.Fatalf("tree %d: %v", size, err)
		}
	}
	proofs := must(os.ReadDir(os.Args[4]))
	for _, file := range proofs {
		check(file.Name(), string(must(os.ReadFile(filepath.Join(os.Args[4], file.Name())))), verifiers, all)
	}
	fmt.Printf("%d entries and %d proofs hold\n", len(all), len(proofs))
}

// check checks a file in the format c2sp.org/tlog-proof.
func check(name, text string, verifiers note.Verifiers, all [][]byte) {
	proof, checkpoint, _ := strings.Cut(text, "\n\n")
	tree := open([]byte(checkpoint), verifiers)
	lines := strings.Split(proof, "\n")
	var opening struct{ Envelope, Commitment []byte }
	extra := must(base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra ")))
	if err := json.Unmarshal(extra, &opening); err != nil {
		log.Fatal(err)
	}
	index := must(strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64))
	var path tlog.RecordProof
	for _, line := range lines[3:] {
		var hash tlog.Hash
		copy(hash[:], must(base64.StdEncoding.DecodeString(line)))
		path = append(path, hash)
	}
	leaf := append(opening.Envelope, opening.Commitment...)
	if err := tlog.CheckRecord(path, tree.N, tree.Hash, index, tlog.RecordHash(leaf)); err != nil {
		log.Fatalf("proof %s: %v", name, err)
	}
	if strconv.FormatInt(index+1, 10) != name || string(leaf) != string(all[index]) {
		log.Fatalf("proof %s is of the leaf %d", name, index)
	}
}
