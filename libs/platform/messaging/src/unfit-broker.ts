/** The broker is there and cannot serve; only its operator can change that. The message continues "NATS_URL …". */
export class UnfitBroker extends Error {
  override readonly name = 'UnfitBroker';
}
