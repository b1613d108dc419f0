export {
  MediaComplete,
  MediaProgress,
  MediaRetrieve,
  MusicOrder,
  MusicOrderReply,
  MusicQuote,
  VideoOrder,
  VideoOrderReply,
  VideoQuote,
} from './media-jobs.js';
