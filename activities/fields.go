package activities

import (
	"context"

	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

type fieldsKey struct{}

// withFields returns a context whose log lines say what they are about, beside what
// ctx says already. No field holds a dialogue's words.
func withFields(ctx context.Context, fields ...zap.Field) context.Context {
	before := fieldsOf(ctx)
	return context.WithValue(ctx, fieldsKey{}, append(before[:len(before):len(before)], fields...))
}

func fieldsOf(ctx context.Context) []zap.Field {
	fields, _ := ctx.Value(fieldsKey{}).([]zap.Field)
	return fields
}

// about returns a context whose log lines name the task's dialogue as Temporal may.
func about(ctx context.Context, task evaluation.Task, more ...zap.Field) context.Context {
	return withFields(ctx, append([]zap.Field{zap.String("evaluation", task.Evaluation), zap.String("dialogue", task.Item.Name())}, more...)...)
}
