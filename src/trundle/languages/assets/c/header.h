/* @NAME@, @SIGNATURE@. README.md tells what every function takes and gives.

   Functions read their arrays and structures that are const and write the others, which must not overlap them. They
   keep nothing between calls, so any number of threads may call them. */
#ifndef @GUARD@
#define @GUARD@

#ifdef __cplusplus
extern "C" {
#endif

@DECLARATIONS@
#ifdef __cplusplus
}
#endif

#endif
