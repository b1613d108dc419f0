import { useState } from 'preact/hooks';
import { proveAgain, session } from '../api/session.js';
import { textIn } from '../text/form-text.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/fields.js';
import { ErrorNote } from '../ui/states.js';
import { WalletChoice } from '../wallets/wallet-choice.js';
import { openProof } from './proof.js';

/** Asks for the key again before something is done that gives power away. */
export function ProofDialog() {
  const [error, setError] = useState<Error>();
  const question = openProof.value;
  if (!question) return null;
  const submit = async (form: HTMLFormElement) => {
    const apiKey = textIn(new FormData(form), 'apiKey');
    form.reset();
    try {
      await proveAgain({ apiKey });
      setError(undefined);
      question.done();
    } catch (cause) {
      setError(cause as Error);
    }
  };
  return (
    <Dialog title="Is it still you?" onClose={() => question.refused(new Error('Nothing was changed.'))}>
      <p>
        Your sign-in is more than 15 minutes old, and this change gives power over the account. Enter{' '}
        {session.value?.apiKey ? `the key ···${session.value.apiKey.last6Chars} again` : 'an ADMIN key'}.
      </p>
      {session.value?.wallet !== null && (
        <WalletChoice
          onProof={async (proof) => {
            await proveAgain(proof);
            question.done();
          }}
        />
      )}
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Field label="API key">
          <input name="apiKey" type="password" autocomplete="off" required />
        </Field>
        {error && <ErrorNote error={error} />}
        <div class="row end">
          <button class="primary">Continue</button>
        </div>
      </form>
    </Dialog>
  );
}
