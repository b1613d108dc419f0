/** An event could not be stored. After a timeout it may still have been stored. */
export class EventNotStored extends Error {
  override readonly name = 'EventNotStored';
}
