import { claudeCodeOf, codexOf, curlOf, pythonCallOf, scriptOf } from '../text/snippets.js';
import { Code } from '../ui/copy.js';
import { Dialog } from '../ui/dialog.js';
import { Tabs } from '../ui/tabs.js';
import { type Settings, type Turn, bodyOf } from './conversation.js';

interface AsCodeProps {
  readonly settings: Settings;
  readonly turns: readonly Turn[];
  readonly onClose: () => void;
}

/** The next request of the conversation as code, and the settings of coding agents for the model. */
export function AsCode({ settings, turns, onClose }: AsCodeProps) {
  const sent = turns.length === 0 ? [{ role: 'user' as const, content: 'Hello' }] : turns;
  const body = bodyOf(settings, sent);
  const sample = { apiKey: '$SVC_API_KEY', body };
  const inCode = { apiKey: 'YOUR_API_KEY', body };
  return (
    <Dialog title="As code" onClose={onClose}>
      <Tabs
        label="Languages and agents"
        tabs={[
          { title: 'curl', content: () => <Code label="With curl" text={curlOf(sample)} /> },
          { title: 'Python', content: () => <Code label="With Python" text={pythonCallOf(inCode)} /> },
          { title: 'JavaScript', content: () => <Code label="With JavaScript" text={scriptOf(inCode)} /> },
          { title: 'Codex', content: () => <Code label="For Codex" text={codexOf(settings.model)} /> },
          {
            title: 'Claude Code',
            content: () => (
              <Code label="For Claude Code" text={claudeCodeOf(settings.model, '$SVC_API_KEY')} />
            ),
          },
        ]}
      />
    </Dialog>
  );
}
