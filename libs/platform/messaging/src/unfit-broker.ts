/** The broker is there and cannot serve; only its operator can change that. The message continues "NATS_URL …". */
export class UnfitBroker extends Error {
  override readonly name = 'UnfitBroker';
  /** A cluster that has no leader yet refuses in the same words; only time tells the two apart. */
  readonly passesInCluster: boolean;

  constructor(message: string, options: ErrorOptions & { readonly passesInCluster?: boolean } = {}) {
    super(message, options);
    this.passesInCluster = options.passesInCluster ?? false;
  }
}
