import { SecretDialog } from '../ui/secret-dialog.js';

interface CustomerKeyProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** Shows an operator the new key of a customer. */
export const CustomerKey = (props: CustomerKeyProps) => (
  <SecretDialog note="Copy the key now and give it to the customer: it is shown only this once." {...props} />
);
