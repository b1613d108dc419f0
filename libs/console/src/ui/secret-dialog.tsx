import type { ComponentChildren } from 'preact';
import { Code } from './copy.js';
import { Dialog } from './dialog.js';

interface SecretProps {
  readonly title: string;
  /** What to do with it now. */
  readonly note: string;
  readonly secret: string;
  /** What it is called. */
  readonly label?: string;
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
}

/** Shows a new key or secret, which the service shows only now. Nothing of it stays in the page. */
export const SecretDialog = ({ title, note, secret, label = 'API key', children, onClose }: SecretProps) => (
  <Dialog title={title} onClose={onClose} mustStay>
    <p class="note warn">{note}</p>
    <Code text={secret} label={label} />
    {children}
    <div class="row end">
      <button type="button" class="primary" onClick={onClose}>
        I have copied it
      </button>
    </div>
  </Dialog>
);
