/** What each variable does, for the page; the form, the default and the readers come from the code. */
export const MEANINGS = {};
