package audio

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/mewkiz/flac"
)

// decodeFLAC reads frame by frame; the frames carry checksums, so damage is an error.
func decodeFLAC(data []byte, limits Limits) (PCM, Format, error) {
	return guard("flac", func() (PCM, Format, error) {
		format := Format{Container: "flac"}
		stream, err := flac.New(bytes.NewReader(data))
		if err != nil {
			return PCM{}, format, fmt.Errorf("flac: %w", err)
		}
		info := stream.Info
		format.Rate, format.Channels, format.Bits = int(info.SampleRate), int(info.NChannels), int(info.BitsPerSample)
		if format.Rate < minRate || format.Rate > maxRate {
			return PCM{}, format, fmt.Errorf("flac: rate of %d Hz, valid are %d to %d", format.Rate, minRate, maxRate)
		}
		if format.Bits < 4 || format.Bits > 32 {
			return PCM{}, format, fmt.Errorf("flac: %d bits a sample, valid are 4 to 32", format.Bits)
		}
		scale := 1 / (float64(int64(1)<<(format.Bits-1)) * float64(format.Channels))
		var out []float32
		for {
			frame, err := stream.ParseNext()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return PCM{}, format, fmt.Errorf("flac: at sample %d: %w", len(out), err)
			}
			if len(frame.Subframes) != format.Channels {
				return PCM{}, format, fmt.Errorf("flac: %d channels at sample %d, header says %d", len(frame.Subframes), len(out), format.Channels)
			}
			n := len(frame.Subframes[0].Samples)
			if len(out)+n > limits.MaxSamples {
				return PCM{}, format, fmt.Errorf("flac: more than %d samples: %w", limits.MaxSamples, ErrTooLarge)
			}
			for i := range n {
				var sum int64
				for _, sub := range frame.Subframes {
					sum += int64(sub.Samples[i])
				}
				out = append(out, float32(float64(sum)*scale))
			}
		}
		if info.NSamples != 0 && uint64(len(out)) != info.NSamples {
			return PCM{}, format, fmt.Errorf("flac: %d samples, header says %d: the file is cut", len(out), info.NSamples)
		}
		return PCM{Rate: format.Rate, Samples: out}, format, nil
	})
}
