// Numbers as text: the shortest decimal that reads back to the same bits, in the layout of printf("%g").
#ifndef ITM_IO_NUMBER_H
#define ITM_IO_NUMBER_H

// "-1.7976931348623157e+308" and the terminator, and room for the digits that are copied together
#define ITM_NUMBER_BYTES 40

// Write x with at most 17 significant digits, as many as are needed to read it back, and return the end of the text. NaN is "nan", an
// infinity "inf". Numbers below 2.2e-308 go through printf: the caller sets the C locale.
char* itm_number_format(char* at, double x);

#endif
