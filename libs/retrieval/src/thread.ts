// The thread of the pool: reads one file or page after the other.
import type { ExtractedText } from '@svc/contracts/ports';
import { serveJobs } from '@svc/threads';
import { type TextJob, extractText } from './documents/extract-text.js';
import { type PageJob, type PageMarkdown, pageMarkdown } from './pages/page-markdown.js';

serveJobs((job: TextJob | PageJob): ExtractedText | PageMarkdown | Promise<ExtractedText | PageMarkdown> =>
  'url' in job ? pageMarkdown(job) : extractText(job),
);
