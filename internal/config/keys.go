package config

import (
	"fmt"
	"io"
	"os"

	"github.com/speechmanip/speechmanip/internal/codec"
)

// maxKeyFile is more bytes than the most keys take.
const maxKeyFile = 64 << 10

// keys reads the keys of payloads from the environment or the file that it names. No
// error shows what it read.
func (r *reader) keys() codec.Keys {
	name, text, path := codec.EnvKeys, r.text(codec.EnvKeys, ""), r.text(codec.EnvKeyFile, "")
	if text != "" && path != "" {
		r.errs = append(r.errs, fmt.Errorf("%s and %s are both set: use one", codec.EnvKeys, codec.EnvKeyFile))
		return nil
	}
	if path != "" {
		data, err := readKeyFile(path)
		if err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s: %w", codec.EnvKeyFile, err))
			return nil
		}
		name, text = codec.EnvKeyFile, string(data)
	}
	if text == "" && path == "" {
		return nil
	}
	keys, err := codec.Parse(text)
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", name, err))
	}
	return keys
}

func readKeyFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(data) > maxKeyFile {
		return nil, fmt.Errorf("%s is larger than %d bytes: it is no file of keys", path, maxKeyFile)
	}
	return data, nil
}
