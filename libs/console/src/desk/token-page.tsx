import { Brand } from '../shell/brand.js';
import { textIn } from '../text/form-text.js';
import { useAction } from '../ui/action.js';
import { Field } from '../ui/fields.js';
import { ErrorNote } from '../ui/states.js';
import { notice, takeToken } from './operator.js';

/** Asks for the operator's token. */
export function TokenPage() {
  const { error, isBusy, run } = useAction(async (form: HTMLFormElement) => {
    const given = textIn(new FormData(form), 'token');
    form.reset();
    await takeToken(given);
  });
  return (
    <div class="gate">
      <main>
        <Brand name="Desk" />
        <form
          class="card stack"
          onSubmit={(event) => {
            event.preventDefault();
            void run(event.currentTarget);
          }}
        >
          <h1 tabIndex={-1}>Operator’s token</h1>
          {notice.value !== undefined && (
            <p class="note" role="status">
              {notice.value}
            </p>
          )}
          <Field label="Token" hint="It is kept in this page only, until you close or reload it.">
            <input
              name="token"
              type="password"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              required
            />
          </Field>
          {error && <ErrorNote error={error} />}
          <button class="primary" disabled={isBusy}>
            {isBusy ? 'Checking…' : 'Continue'}
          </button>
          <p class="hint">
            The token of <code>npm start</code> is in the file that it prints. Tokens of single operators are
            in <code>SVC_OPERATOR_TOKENS</code>.
          </p>
        </form>
      </main>
    </div>
  );
}
