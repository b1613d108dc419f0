import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { ErrorBoundary } from '../ui/error-boundary.js';
import { ErrorNote, Skeleton } from '../ui/states.js';
import { Brand } from './brand.js';
import { addressOfPage, page } from './navigation.js';
import type { PageEntry } from './page-entry.js';
import { ThemeChoice } from './theme.js';

interface ShellProps {
  readonly name: string;
  /** Those that may be opened. */
  readonly pages: readonly PageEntry[];
  /** Who is there, and how to leave. */
  readonly who: ComponentChildren;
}

function Menu({ name: title, pages, who }: ShellProps) {
  const [isOpen, setOpen] = useState(false);
  const current = page.value;
  useEffect(() => setOpen(false), [current]);
  return (
    <header
      class="side"
      data-open={isOpen ? '' : undefined}
      onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
    >
      <Brand name={title} />
      <button
        type="button"
        class="menu-button"
        aria-expanded={isOpen}
        aria-controls="menu"
        onClick={() => setOpen(!isOpen)}
      >
        Menu
      </button>
      <nav id="menu" aria-label="Pages">
        {pages.map(({ name, title: text }) => (
          <a key={name} href={addressOfPage(name)} aria-current={name === current ? 'page' : undefined}>
            {text}
          </a>
        ))}
      </nav>
      <div class="who">
        {who}
        <ThemeChoice />
      </div>
    </header>
  );
}

interface OpenedPage {
  readonly entry: PageEntry;
  readonly Content?: ComponentType;
  readonly error?: Error;
}

/** The code of a page once it is loaded; until then the one before stays. */
function useOpenedPage(entry: PageEntry): OpenedPage {
  const [opened, setOpened] = useState<OpenedPage>({ entry });
  useEffect(() => {
    let isOutdated = false;
    entry.load().then(
      (Content) => !isOutdated && setOpened({ entry, Content }),
      (cause: unknown) => {
        const error = new Error('The page could not be loaded. Reload the window.', { cause });
        if (!isOutdated) setOpened({ entry, error });
      },
    );
    return () => {
      isOutdated = true;
    };
  }, [entry]);
  return opened;
}

/** Says so as soon as the browser has no network, before a request fails. */
function Offline() {
  const [isOffline, setOffline] = useState(!navigator.onLine);
  useEffect(() => {
    const update = () => setOffline(!navigator.onLine);
    addEventListener('online', update);
    addEventListener('offline', update);
    return () => {
      removeEventListener('online', update);
      removeEventListener('offline', update);
    };
  }, []);
  return (
    <div role="status">
      {isOffline && <p class="note warn">This browser is offline. What is shown may be old.</p>}
    </div>
  );
}

const NOT_FOUND: PageEntry = {
  name: 'not-found',
  title: 'No such page',
  load: () => Promise.resolve(() => <p>Choose a page in the menu.</p>),
};

/** The menu and the open page. */
export function Shell(props: ShellProps) {
  const entry = props.pages.find(({ name }) => name === page.value) ?? NOT_FOUND;
  const { entry: shown, Content, error } = useOpenedPage(entry);
  // Before the next key arrives, which would otherwise lose the focus that it set.
  useLayoutEffect(() => {
    document.title = `${shown.title} · ${props.name}`;
    // Not when the first page opens: then the focus belongs to the browser.
    if (Content && document.activeElement !== document.body)
      document.querySelector<HTMLElement>('h1')?.focus();
  }, [shown, Content]);
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Menu {...props} />
      <main id="content" tabIndex={-1}>
        <div class="page">
          <div class="page-head">
            <h1 tabIndex={-1}>{shown.title}</h1>
            <Offline />
          </div>
          {error && <ErrorNote error={error} />}
          {!Content && !error && <Skeleton rows={6} />}
          {Content && (
            <ErrorBoundary key={shown.name}>
              <Content />
            </ErrorBoundary>
          )}
        </div>
      </main>
    </div>
  );
}
