// RUN: yes
int *First = 0;
// CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use nullptr
// CHECK-FIXES: int *First = {{.*}};
