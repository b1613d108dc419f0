import { Code } from '../ui/copy.js';
import { Dialog } from '../ui/dialog.js';

interface SecretProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** Shows a new key, which the service shows only now. Nothing of it stays in the page afterwards. */
export const SecretDialog = ({ title, secret, onClose }: SecretProps) => (
  <Dialog title={title} onClose={onClose} mustStay>
    <p class="note warn">Copy the key now and give it to the customer: it is shown only this once.</p>
    <Code text={secret} label="API key" />
    <div class="row end">
      <button type="button" class="primary" onClick={onClose}>
        I have copied it
      </button>
    </div>
  </Dialog>
);
