import { useEffect, useState } from 'preact/hooks';
import { sessionEnds } from './api/client.js';
import { isAdmin, loadSession, session, signIn, signOut } from './api/session.js';
import { PAGES } from './pages.js';
import { ProofDialog } from './shell/proof-dialog.js';
import { Shell } from './shell/shell.js';
import { SignInPage } from './sign-in/sign-in-page.js';
import { Announcements } from './ui/announce.js';
import { ErrorNote } from './ui/states.js';

const LINK = '#link=';

/** Takes the secret of a one-time link out of the address, so that it stays in no history. */
function takeLink(): string | undefined {
  if (!location.hash.startsWith(LINK)) return undefined;
  const link = decodeURIComponent(location.hash.slice(LINK.length));
  history.replaceState(null, '', location.pathname + location.search);
  return link;
}

const oneTimeLink = takeLink();

async function open(): Promise<string | undefined> {
  if (oneTimeLink !== undefined) {
    const isSignedIn = await signIn({ link: oneTimeLink }).then(
      () => true,
      () => false,
    );
    if (isSignedIn) return undefined;
  }
  await loadSession();
  return oneTimeLink !== undefined && session.value === null
    ? 'The sign-in link has been used or has expired. Sign in with a key.'
    : undefined;
}

function Who() {
  const { apiKey, wallet } = session.value ?? {};
  return (
    <>
      <span class="hint">
        {apiKey && `Key “${apiKey.description}” ···${apiKey.last6Chars}`}
        {wallet !== null && wallet !== undefined && <span class="mono">{wallet}</span>}
      </span>
      <a href="/docs">API reference</a>
      <button type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </>
  );
}

const Console = () => (
  <>
    <Shell name="Console" pages={PAGES.filter(({ isForAll }) => isForAll || isAdmin.value)} who={<Who />} />
    <ProofDialog />
  </>
);

/** The sign-in page or the console, whichever the session allows. */
export function App() {
  const [note, setNote] = useState<string>();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    open().then(setNote, (cause: Error) => setError(cause));
    return sessionEnds.subscribe((ends) => {
      if (ends === 0) return;
      session.value = null;
      setNote('Your session has ended. Sign in again.');
    });
  }, []);
  return (
    <>
      {error && (
        <div class="gate">
          <main>
            <ErrorNote error={error} onRetry={() => location.reload()} />
          </main>
        </div>
      )}
      {session.value === null && <SignInPage note={note} />}
      {session.value && <Console key={session.value.id} />}
      <Announcements />
    </>
  );
}
