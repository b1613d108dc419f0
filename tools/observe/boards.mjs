// Every dashboard, by the name of its file.
import { inference } from './inference-board.mjs';
import { limits, money } from './platform-boards.mjs';
import { events, runtime } from './process-boards.mjs';
import { gateway, overview } from './service-boards.mjs';

/** A board's panels without its rows. */
export const panelsOf = ({ panels }) => panels.filter(({ title }) => title);

export const BOARDS = { overview, gateway, inference, money, limits, events, runtime };
