import { useState } from 'preact/hooks';
import type { ReplyAt } from '../api/routes.js';
import { ask } from '../desk/operator.js';
import { useAction } from '../ui/action.js';
import { Field } from '../ui/fields.js';
import { ErrorNote } from '../ui/states.js';

type Check = ReplyAt<'POST', '/operator/v1/catalog/checks'>;

const OUTCOMES = {
  accepted: ['good', 'It would come into force.'],
  refused: ['danger', 'It is valid, but would not come into force:'],
  broken: ['danger', 'It is not a valid catalogue:'],
} as const;

function Result({ check }: { readonly check: Check }) {
  const [tone, text] = OUTCOMES[check.outcome];
  return (
    <section class="card stack" aria-label="What it would do">
      <p class={`note ${tone}`} role="status">
        {text} {check.reason}
      </p>
      {check.outcome !== 'broken' && (
        <>
          <h2>What it changes</h2>
          {check.changes.length === 0 ? (
            <p>Nothing of the version in force ({check.against}).</p>
          ) : (
            <ul class="lines">
              {check.changes.map((change) => (
                <li key={change}>{change}</li>
              ))}
            </ul>
          )}
        </>
      )}
    </section>
  );
}

/** Compares a catalogue that is not in force with the one that is. */
export function CatalogueCheck() {
  const [text, setText] = useState('');
  const [check, setCheck] = useState<Check>();
  const [fileError, setFileError] = useState<Error>();
  const compare = async () => {
    setFileError(undefined);
    setCheck(undefined);
    setCheck(await ask('POST', '/operator/v1/catalog/checks', { body: { text } }));
  };
  const { error = fileError, isBusy, run } = useAction(compare, { isRepeatable: true });
  return (
    <div class="stack">
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <p class="muted">Nothing is changed: a catalogue comes into force only as the file of the service.</p>
        <Field label="A file">
          <input
            type="file"
            accept=".yaml,.yml,.json"
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              file?.text().then(setText, setFileError);
            }}
          />
        </Field>
        <Field label="The catalogue" hint="As YAML or JSON">
          <textarea
            class="mono"
            rows={14}
            spellcheck={false}
            value={text}
            required
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </Field>
        {error && <ErrorNote error={error} />}
        <div class="row end">
          <button class="primary" disabled={isBusy}>
            {isBusy ? 'Comparing…' : 'Compare with the version in force'}
          </button>
        </div>
      </form>
      {check && <Result check={check} />}
    </div>
  );
}
