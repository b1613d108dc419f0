import { signal } from '@preact/signals';

const message = signal('');
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a short message for some seconds, and has it read aloud. */
export function announce(text: string): void {
  message.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => (message.value = ''), 4_000);
}

export const Announcements = () => (
  <div class="toast" role="status" aria-live="polite">
    {message.value}
  </div>
);
