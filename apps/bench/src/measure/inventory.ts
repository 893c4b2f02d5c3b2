/** Figures without a limit to compare with. */
export interface Inventory {
  readonly kind: 'inventory';
  readonly title: string;
  readonly unit: string;
  readonly items: readonly { readonly name: string; readonly value: number }[];
  /** The maximum for every item. */
  readonly aim?: number;
}
