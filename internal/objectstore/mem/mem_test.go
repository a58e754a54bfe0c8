package mem_test

import (
	"testing"

	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/objectstore/objectstoretest"
)

func TestStore(t *testing.T) {
	objectstoretest.Run(t, func(*testing.T) objectstore.Store { return mem.New() })
}
