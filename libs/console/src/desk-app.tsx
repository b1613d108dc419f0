import { DESK_PAGES } from './desk-pages.js';
import { forgetToken, token } from './desk/operator.js';
import { TokenPage } from './desk/token-page.js';
import { Shell } from './shell/shell.js';
import { Announcements } from './ui/announce.js';
import { Time } from './ui/time.js';

function Who() {
  const { name = '', scopes = [], expiresAt = null } = token.value ?? {};
  return (
    <>
      <span class="hint">
        Token “{name}” with {scopes.length === 1 ? 'the scope' : 'the scopes'} {scopes.join(', ')}
        {expiresAt !== null && (
          <>
            ; it expires <Time at={expiresAt} form="relative" />
          </>
        )}
      </span>
      <button type="button" onClick={() => forgetToken()}>
        Forget the token
      </button>
    </>
  );
}

/** The form for the token, or the desk. */
export const DeskApp = () => (
  <>
    {token.value ? <Shell name="Desk" pages={DESK_PAGES} who={<Who />} /> : <TokenPage />}
    <Announcements />
  </>
);
