package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// spending is what the flags say about money.
type spending struct {
	prices   string // file
	maxCost  string
	maxCalls int
}

func (s *spending) flags(f *pflag.FlagSet) {
	f.StringVar(&s.prices, "prices", "", "TOML file of what calls cost (see infra/prices.example.toml); without it the one that "+config.EnvPrices+" names")
	f.StringVar(&s.maxCost, "max-cost", "", "pause before more than so much money is expected to be spent, in the prices' currency, e.g. 12.50")
	f.IntVar(&s.maxCalls, "max-calls", 0, "pause before more than so many calls of synthesizer and detector are expected to be made; 0 is no bound")
}

// read returns the prices and the bounds; the error names every wrong flag.
func (s *spending) read(lookup func(string) (string, bool)) (evaluation.Prices, evaluation.Budget, error) {
	var errs []error
	prices, err := s.readPrices(lookup)
	if err != nil {
		errs = append(errs, err)
	}
	budget := evaluation.Budget{Calls: s.maxCalls}
	if s.maxCalls < 0 {
		errs = append(errs, fmt.Errorf("--max-calls is %d, must be at least 0", s.maxCalls))
	}
	if s.maxCost != "" {
		if budget.Money, err = evaluation.ParseMoney(s.maxCost); err != nil {
			errs = append(errs, fmt.Errorf("--max-cost: %w", err))
		} else if budget.Money == 0 {
			errs = append(errs, errors.New("--max-cost 0 lets nothing be done: leave it out for no bound"))
		}
	}
	if s.maxCost != "" && s.prices == "" && prices.Currency == "" {
		errs = append(errs, fmt.Errorf("--max-cost needs prices: use --prices or set %s", config.EnvPrices))
	}
	if len(errs) > 0 {
		return evaluation.Prices{}, evaluation.Budget{}, errors.Join(errs...)
	}
	return prices, budget, nil
}

func (s *spending) readPrices(lookup func(string) (string, bool)) (evaluation.Prices, error) {
	path, source := s.prices, "--prices"
	if path == "" {
		path, _ = lookup(config.EnvPrices)
		source = config.EnvPrices
	}
	if path == "" {
		return evaluation.Prices{}, nil
	}
	text, err := readFile(path, maxSettings)
	if err != nil {
		return evaluation.Prices{}, fmt.Errorf("%s: %w", source, err)
	}
	prices, err := evaluation.ParsePrices(text)
	if err != nil {
		return prices, fmt.Errorf("%s %s: %w", source, path, err)
	}
	return prices, nil
}
