// Evaluation of a study: which factors a response depends on.
#ifndef ITM_STUDY_EFFECTS_H
#define ITM_STUDY_EFFECTS_H

#include "study/study.h"

#define ITM_EFFECTS_MOST_CLASSES 10

// Mean of a response in classes of a factor: its values where there are few, otherwise classes of equal numbers of runs.
typedef struct ItmEffectClasses {
    int count;
    double at[ITM_EFFECTS_MOST_CLASSES];         // mean value of the factor, or number of the choice
    double mean[ITM_EFFECTS_MOST_CLASSES];       // of the response
    double deviation[ITM_EFFECTS_MOST_CLASSES];  // standard error of the mean
    int size[ITM_EFFECTS_MOST_CLASSES];
} ItmEffectClasses;

// Value of a factor in a run as a number: SI; of words their position in the list.
double itm_effects_get_value(const ItmStudy* study, int run, int factor);
ItmStatus itm_effects_classify(ItmEffectClasses* classes, const ItmStudy* study, int response, int factor);

#endif
