/** Figures without a limit beside them. */
export interface Inventory {
  readonly kind: 'inventory';
  readonly title: string;
  readonly unit: string;
  readonly items: readonly { readonly name: string; readonly value: number }[];
  /** What no item may pass. */
  readonly aim?: number;
}
