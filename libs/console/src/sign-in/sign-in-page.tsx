import { signIn } from '../api/session.js';
import { Brand } from '../shell/brand.js';
import { textIn } from '../text/form-text.js';
import { useAction } from '../ui/action.js';
import { Field } from '../ui/fields.js';
import { ErrorNote } from '../ui/states.js';
import { WalletChoice } from '../wallets/wallet-choice.js';

/** The cookie of a session is sent over HTTPS, or to this machine. */
const InsecureNote = () => (
  <p class="note warn">
    This address has neither HTTPS nor is it <code>localhost</code>, so a browser keeps no session for it.
    Open the console over HTTPS.
  </p>
);

function KeyForm() {
  const { error, isBusy, run } = useAction(async (form: HTMLFormElement) => {
    const apiKey = textIn(new FormData(form), 'apiKey');
    // The key stays nowhere in the page.
    form.reset();
    await signIn({ apiKey });
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void run(event.currentTarget);
      }}
    >
      <Field
        label="API key"
        hint="An ADMIN key opens the account. Any other key shows its own usage, limits and the playground."
      >
        <input
          name="apiKey"
          type="password"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="SVC_ADMIN_KEY_…"
          required
        />
      </Field>
      {error && <ErrorNote error={error} />}
      <button class="primary" disabled={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
}

interface SignInProps {
  /** Why the reader is here, if a session has ended. */
  readonly note?: string | undefined;
}

/** Sign-in by a key or a wallet. */
export function SignInPage({ note }: SignInProps) {
  return (
    <div class="gate">
      <main>
        <Brand name="Console" />
        <div class="card stack">
          <h1 tabIndex={-1}>Sign in</h1>
          {note !== undefined && (
            <p class="note" role="status">
              {note}
            </p>
          )}
          {!isSecureContext && <InsecureNote />}
          <KeyForm />
          <WalletChoice onProof={signIn} />
          <p class="hint">
            No key yet? The first <code>npm start</code> prints one; after that, an ADMIN key creates others.
            The <a href="/docs">API reference</a> has the rest.
          </p>
        </div>
      </main>
    </div>
  );
}
