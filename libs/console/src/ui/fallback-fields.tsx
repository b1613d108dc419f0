import type { ApiKeyView } from '@svc/api/keys';
import { entriesIn, textIn } from '../text/form-text.js';
import { Field } from './fields.js';

/** The models that completions fall back to by default, and when beside a failure of the first. */
export type Fallbacks = Required<Pick<ApiKeyView, 'fallbackModels' | 'fallbackOn'>>;

const CAUSES = [
  ['context_length_exceeded', 'Also when the prompt is too long for a model'],
  ['content_filter', 'Also when a content filter refuses'],
] as const;

export const fallbacksOf = (data: FormData): Fallbacks => ({
  fallbackModels: entriesIn(textIn(data, 'fallbackModels')) ?? [],
  fallbackOn: CAUSES.flatMap(([cause]) => (data.get(cause) === null ? [] : [cause])),
});

interface FallbackFieldsProps {
  readonly current: Partial<Fallbacks> | undefined;
  readonly hint: string;
}

/** The fields for the default fallback models of a key or an account, closed unless it has some. */
export function FallbackFields({ current, hint }: FallbackFieldsProps) {
  const { fallbackModels = [], fallbackOn = [] } = current ?? {};
  return (
    <details open={fallbackModels.length > 0}>
      <summary>Fallback models</summary>
      <div class="stack">
        <Field label="Models to fall back to" hint={hint}>
          <textarea
            name="fallbackModels"
            rows={2}
            spellcheck={false}
            defaultValue={fallbackModels.join('\n')}
          />
        </Field>
        {CAUSES.map(([cause, label]) => (
          <label key={cause} class="row">
            <input type="checkbox" name={cause} defaultChecked={fallbackOn.includes(cause)} />
            {label}
          </label>
        ))}
      </div>
    </details>
  );
}
