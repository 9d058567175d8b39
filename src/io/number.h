// Numbers as text: what printf("%.17g") gives in the C locale, several times faster for everyday magnitudes.
#ifndef ITM_IO_NUMBER_H
#define ITM_IO_NUMBER_H

#define ITM_NUMBER_BYTES 26  // "-1.7976931348623157e+308", one more character, and the terminator

// Write x with 17 significant digits, trailing zeros left out, and return the end of the text. NaN is "nan". Numbers
// outside [1e-4, 1e17) go through printf: the caller sets the C locale.
char* itm_number_format(char* at, double x);

#endif
