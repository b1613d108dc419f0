import { curlOf, pythonCallOf, scriptOf } from '../text/snippets.js';
import { Code } from '../ui/copy.js';
import { SecretDialog } from '../ui/secret-dialog.js';
import { Tabs } from '../ui/tabs.js';

interface NewKeyProps {
  readonly secret: string;
  readonly isAdmin: boolean;
  readonly onClose: () => void;
}

const BODY = { model: 'default', messages: [{ role: 'user', content: 'Hello' }] };

/** Shows a new key, and how to use it. */
export function NewKeyDialog({ secret, isAdmin, onClose }: NewKeyProps) {
  const sample = { apiKey: secret, body: BODY };
  return (
    <SecretDialog
      title="Your new key"
      note="Copy it now: it is shown only this once. Keep it where only you can read it."
      secret={secret}
      onClose={onClose}
    >
      {isAdmin ? (
        <p>It can sign in here and manage keys, usage and credit of the account.</p>
      ) : (
        <Tabs
          label="A first request"
          tabs={[
            { title: 'curl', content: () => <Code label="With curl" text={curlOf(sample)} /> },
            { title: 'JavaScript', content: () => <Code label="With JavaScript" text={scriptOf(sample)} /> },
            { title: 'Python', content: () => <Code label="With Python" text={pythonCallOf(sample)} /> },
          ]}
        />
      )}
    </SecretDialog>
  );
}
