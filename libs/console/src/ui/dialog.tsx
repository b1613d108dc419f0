import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** A panel at the side of the window. */
  readonly atSide?: boolean;
  /** Whether Escape and the closing button are refused while something must not be lost. */
  readonly mustStay?: boolean;
  readonly children: ComponentChildren;
}

/** A modal dialog. It is open while it is rendered; the focus then returns to where it was. */
export function Dialog({ title, onClose, atSide = false, mustStay = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Before the next key arrives, which belongs to the dialog.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    return () => {
      // Nothing outside of an open dialog can have the focus.
      element?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      else document.querySelector<HTMLElement>('h1')?.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={atSide ? 'side-panel' : ''}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!mustStay) onClose();
      }}
      // A browser may close it without asking.
      onClose={() => {
        // It is no longer rendered.
        if (!dialog.current) return;
        if (mustStay) dialog.current.showModal();
        else onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        {!mustStay && (
          <button type="button" class="plain small" aria-label="Close" onClick={onClose}>
            ✕
          </button>
        )}
      </div>
      <div class="dialog-body stack">{children}</div>
    </dialog>
  );
}
