import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly { readonly title: string; readonly content: () => ComponentChildren }[];
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Tabs; the arrow keys move between them. */
export function Tabs({ label, tabs }: TabsProps) {
  const [at, setAt] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (step: number) => {
    const next = (at + step + tabs.length) % tabs.length;
    setAt(next);
    list.current?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <div>
      <div
        ref={list}
        class="tabs"
        role="tablist"
        aria-label={label}
        onKeyDown={({ key }) => {
          const step = STEPS[key];
          if (step !== undefined) move(step);
        }}
      >
        {tabs.map(({ title }, index) => (
          <button
            key={title}
            type="button"
            role="tab"
            class="small"
            id={`${id}-tab-${index}`}
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => setAt(index)}
          >
            {title}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-tab-${at}`}>
        {tabs[at]?.content()}
      </div>
    </div>
  );
}
