import { useId } from 'preact/hooks';

interface TextFieldProps {
  readonly autofocus?: boolean;
  readonly defaultValue?: string;
  readonly inputMode?: 'decimal';
  readonly maxLength?: number;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly label: string;
  readonly name: string;
  readonly hint?: string;
  /** What is wrong with its text. */
  readonly problem?: string | undefined;
}

/** A field of a form with what is wrong with it. */
export function TextField({ label, name, hint, problem, ...input }: TextFieldProps) {
  const id = useId();
  const notes = [hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`];
  return (
    <div class="field">
      <label class="name" for={id}>
        {label}
      </label>
      <input
        id={id}
        name={name}
        autocomplete="off"
        aria-invalid={problem !== undefined}
        aria-describedby={notes.filter(Boolean).join(' ') || undefined}
        {...input}
      />
      {problem !== undefined && (
        <span class="problem" id={`${id}-problem`}>
          {label} {problem}
        </span>
      )}
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

type ProblemProps = Pick<TextFieldProps, 'problem' | 'autofocus'>;

/** An amount of USD, as its exact decimals. */
export const UsdField = ({
  label = 'Amount in USD',
  ...others
}: ProblemProps & { readonly label?: string }) => (
  <TextField name="usd" label={label} inputMode="decimal" placeholder="10.00" required {...others} />
);

/** The operator's own name of a movement, which happens once for it. */
export const ReferenceField = (props: ProblemProps & { readonly required?: boolean }) => (
  <TextField
    name="reference"
    label="Reference"
    hint="Your own name for it, such as the number of an invoice. It happens once for each reference, however often you send it."
    maxLength={200}
    required
    {...props}
  />
);

export const ReasonField = (props: ProblemProps) => (
  <TextField
    name="reason"
    label="Reason"
    hint="Kept in the log of actions; customers do not see it"
    maxLength={200}
    required
    {...props}
  />
);
