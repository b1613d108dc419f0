// Every dashboard, by the name of its file.
import { limits, money } from './platform-boards.mjs';
import { events, runtime } from './process-boards.mjs';
import { gateway, inference, overview } from './service-boards.mjs';

export const BOARDS = { overview, gateway, inference, money, limits, events, runtime };
