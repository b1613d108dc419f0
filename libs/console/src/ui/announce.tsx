import { signal } from '@preact/signals';

const message = signal('');
const unseen = signal('');
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a short message for some seconds, and has it read aloud. */
export function announce(text: string): void {
  message.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => (message.value = ''), 4_000);
}

/** Has a text read aloud of which the page shows the reason already. */
export function announceAloud(text: string): void {
  unseen.value = text;
}

export const Announcements = () => (
  <>
    <div class="toast" role="status" aria-live="polite">
      {message.value}
    </div>
    <div class="sr" role="status" aria-live="polite">
      {unseen.value}
    </div>
  </>
);
