export {
  AugmentFile,
  AugmentFileReply,
  AugmentScrape,
  AugmentScrapeReply,
  AugmentSearch,
  AugmentSearchReply,
} from './augment.js';
